"""The cases of the benchmark. Each is a function that measures and gives tables; `bench/run.py` lists them."""
