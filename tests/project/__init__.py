"""What is around the program: documentation, examples, pipelines, generators, and helpers of other tests."""
