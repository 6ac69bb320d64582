"""What is around the program: documentation, examples, pipelines, generators, tools, the sandbox, and helpers of other tests."""
