"""Generates the programs of testdata/models with JAX.

One file a model family; `FAMILIES` lists them. Each has functions that take `Options` and return a
`Program`, and a table `PROGRAMS` from the name of the program to its function.
"""

FAMILIES = ["mlp", "gpt", "moe", "resnet_block", "decode", "ring_attention"]
