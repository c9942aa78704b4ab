"""Safetensors as others would write them: floats, in torch's order."""

import json
import struct


def write(name, notes, tensors):
    """`tensors`: by name, (shape, values)."""
    head, data = {"__metadata__": notes}, b""
    for key, (shape, values) in tensors.items():
        numbers = struct.pack(f"<{len(values)}f", *values)
        head[key] = {"dtype": "F32", "shape": shape,
                     "data_offsets": [len(data), len(data) + len(numbers)]}
        data += numbers
    head = json.dumps(head).encode()
    with open(name, "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head + data)
