"""A PEFT adapter as llama.cpp reads it.

Only what both ends agree on: plain LoRA on the projections of a Qwen2 network. Anything else would be left out
silently by llama.cpp, so it is refused here.
"""

import json
import math
import re
from pathlib import Path
from typing import Any

from burnish.errors import SetupProblem

PROJECTIONS = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
ARCHITECTURE = "qwen2"
_TENSOR = re.compile(r"(?:.*\.)?layers\.(\d+)\.([\w.]+?)\.lora_([AB])\.weight")


def write_gguf(peft: Path, file: Path) -> None:
    """Write the adapter in a PEFT folder to a GGUF file. Raises SetupProblem for what llama.cpp would not apply."""
    from gguf import GGUFWriter
    from safetensors import safe_open

    config: dict[str, Any] = json.loads((peft / "adapter_config.json").read_text("utf-8"))
    odd = [key for key in ("use_dora", "modules_to_save", "alpha_pattern", "rank_pattern") if config.get(key)]
    if config.get("peft_type") != "LORA" or config.get("bias", "none") != "none" or odd:
        raise SetupProblem(
            f"The adapter in {str(peft)!r} is no plain LoRA ({', '.join(odd) or config.get('peft_type')}), and "
            "llama.cpp would apply a part of it only. Train it with the defaults: burnish train sft"
        )
    rank, alpha = int(config["r"]), float(config["lora_alpha"])
    if config.get("use_rslora"):  # llama.cpp divides by the rank; this makes it the root of the rank
        alpha *= math.sqrt(rank)
    writer = GGUFWriter(file, ARCHITECTURE)
    writer.add_string("general.type", "adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", alpha)
    with safe_open(peft / "adapter_model.safetensors", "pt") as tensors:
        for name in sorted(tensors.keys()):
            found = _TENSOR.fullmatch(name)
            if not found or found[2] not in PROJECTIONS:
                raise SetupProblem(f"The adapter changes {name!r}, which llama.cpp cannot. Train only the projections.")
            half = tensors.get_tensor(name).half().numpy()
            writer.add_tensor(f"blk.{found[1]}.{PROJECTIONS[found[2]]}.weight.lora_{found[3].lower()}", half)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
