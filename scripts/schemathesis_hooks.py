"""Teaches schemathesis to send the two kinds of text that are not JSON: policy documents and batches."""

import json

import schemathesis


@schemathesis.serializer("application/toml")
def document(ctx, value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


@schemathesis.serializer("application/x-ndjson")
def batch(ctx, value):
    lines = value if isinstance(value, list) else [value]
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    return "\n".join(texts).encode("utf-8", "replace")


@schemathesis.hook
def map_path_parameters(ctx, path_parameters):
    """Every other name becomes one that exists, so that more than "not found" is tried."""
    if path_parameters and len(str(path_parameters.get("name", ""))) % 2 == 0 and "name" in path_parameters:
        path_parameters["name"] = "hypertension-treatment"
    return path_parameters
