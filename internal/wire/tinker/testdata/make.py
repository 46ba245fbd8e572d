"""Writes the goldens of this folder with the SDK that PYTHONPATH names, by its own code:

    PYTHONPATH=.cache/tinker/0.38.0:.cache/tinker/shared python3 make.py

Versions from 0.25 on write requests and results as protobuf; versions before, requests as
JSON, in forward_VERSION.json.
"""

import json
import sys

import numpy as np
import tinker
from tinker import types

OUT = sys.argv[1] if len(sys.argv) > 1 else "."


def write(name, data):
    with open(f"{OUT}/{name}", "wb") as f:
        f.write(data)


def data():
    one = types.Datum(
        model_input=types.ModelInput(chunks=[types.EncodedTextChunk(tokens=[1, 2]), types.EncodedTextChunk(tokens=[3, 40000])]),
        loss_fn_inputs={"target_tokens": [2, 3, 4, 5], "weights": [0.0, 0.1, -2.5, 1.0]},
    )
    two = types.Datum(
        model_input=types.ModelInput(chunks=[types.EncodedTextChunk(tokens=[7])]),
        loss_fn_inputs={"target_tokens": types.TensorData(data=[8], dtype="int64", shape=[1]), "logprobs": [-0.5], "advantages": [1.5]},
    )
    return [one, two]


def as_json():
    from tinker._compat import model_dump

    ask = types.ForwardBackwardRequest(
        forward_backward_input=types.ForwardBackwardInput(data=data(), loss_fn="ppo", loss_fn_config={"clip_low_threshold": 0.8}), model_id="m:train:0", seq_id=7
    )
    try:
        from tinker.lib._pydantic_conv import to_pydantic_request  # the types are dataclasses by then

        body = model_dump(to_pydantic_request(ask), exclude_unset=False, exclude_none=True, mode="json")
    except ModuleNotFoundError:
        body = model_dump(ask, exclude_unset=True, mode="json")
    write(f"forward_{tinker.__version__}.json", json.dumps(body, separators=(",", ":")).encode() + b"\n")


def as_protobuf():
    from tinker.proto import request_conv, tinker_public_pb2 as pb

    spans = [types.PromptProvenanceSpan(sequence_id="q", offset=0, length=3), types.SampledProvenanceSpan(sequence_id="q", offset=0, length=1)]
    rows = data()
    rows[0] = rows[0].with_provenance(model_input=spans, loss_fn_inputs=spans)
    ask = types.ForwardBackwardRequest(
        forward_backward_input=types.ForwardBackwardInput(data=rows, loss_fn="ppo", loss_fn_config={"clip_low_threshold": 0.8}), model_id="m:train:0", seq_id=7
    )
    write("forward_0.38.0.pb", request_conv.forward_backward_request_to_proto(ask).SerializeToString(deterministic=True))

    top = types.Datum(
        model_input=types.ModelInput(chunks=[types.EncodedTextChunk(tokens=[1, 2])]),
        loss_fn_inputs={
            "target_tokens": types.TensorData(data=[5, 6, 7], dtype="int64", shape=[2, 3], sparse_crow_indices=[0, 2, 3], sparse_col_indices=[0, 2, 1]),
            "weights": types.TensorData(data=[0.5, 0.25, 1.0], dtype="float32", shape=[2, 3], sparse_crow_indices=[0, 2, 3], sparse_col_indices=[0, 2, 1]),
        },
    )
    ask = types.ForwardBackwardRequest(forward_backward_input=types.ForwardBackwardInput(data=[top], loss_fn="cross_entropy"), model_id="m", seq_id=1)
    write("sparse.pb", request_conv.forward_backward_request_to_proto(ask).SerializeToString(deterministic=True))

    odd = pb.ForwardBackwardRequest(model_id="m", seq_id=0, loss_fn="cross_entropy", forward_only=True)
    odd.loss_fn_config["old"] = 2.0  # what servers before v2 read
    d = odd.data.add()
    d.model_input.add().encoded_text.tokens = np.asarray([1, 2], dtype=np.int32).tobytes()
    d.loss_fn_inputs["target_tokens"].dense = np.asarray([3, 4], dtype=np.int32).tobytes()
    d.loss_fn_inputs["target_tokens"].dtype = pb.DTYPE_INT32
    d.loss_fn_inputs["weights"].dense = (np.asarray([1.0, -0.5], dtype=np.float32).view(np.uint32) >> 16).astype(np.uint16).tobytes()
    d.loss_fn_inputs["weights"].dtype = pb.DTYPE_BFLOAT16
    d.loss_fn_inputs["advantages"].dense = np.asarray([0.25, 0.5], dtype=np.float32).tobytes()  # of no stated type
    write("odd.pb", odd.SerializeToString(deterministic=True))

    out = pb.ForwardBackwardOutput(loss_fn_output_type="ArrayRecord")
    for arrays, trailing in (([[-1.0, -2.0], [-3.0]], []), ([[[-0.5, -0.25]]], [2])):
        record = out.loss_fn_outputs.add()
        record.type_tag, record.num_datums = "ArrayRecord", len(arrays)
        field = record.fields["logprobs"]
        parts = [np.asarray(a, dtype=np.float32).tobytes() for a in arrays]
        field.data = b"".join(parts)
        field.offsets = np.cumsum([0] + [len(p) for p in parts]).astype(np.int64).tobytes()
        field.dtype = pb.DTYPE_FLOAT32
        field.trailing_shape.extend(trailing)
    out.metrics["loss:sum"] = 6.75
    write("output.pb", out.SerializeToString(deterministic=True))

    said = pb.SampleResponse(prompt_cache_hit_tokens=2)
    for stop, tokens, logprobs in ((pb.STOP_REASON_STOP, [5, 2], [-0.5, -0.25]), (pb.STOP_REASON_LENGTH, [6], [-1.5])):
        q = said.sequences.add()
        q.stop_reason = stop
        q.tokens = np.asarray(tokens, dtype=np.int32).tobytes()
        q.logprobs = np.asarray(logprobs, dtype=np.float32).tobytes()
    said.prompt_logprobs = np.asarray([np.nan, -2.0, -3.0], dtype=np.float32).tobytes()
    top = said.topk_prompt_logprobs
    top.k, top.length = 2, 3
    top.token_ids = np.asarray([0, 0, 9, 8, 7, 0], dtype=np.int32).tobytes()
    top.logprobs = np.asarray([-99999, -99999, -0.5, -1, -0.125, -99999], dtype=np.float32).tobytes()
    said.target_prompt_logprobs.dense = np.asarray([-4.0, 0.0], dtype=np.float32).tobytes()
    said.target_prompt_logprobs.dtype = pb.DTYPE_FLOAT32
    said.target_prompt_logprobs.shape.extend([2, 1])
    write("samples.pb", said.SerializeToString(deterministic=True))


if tuple(int(x) for x in tinker.__version__.split(".")[:2]) >= (0, 25):
    as_protobuf()
else:
    as_json()
