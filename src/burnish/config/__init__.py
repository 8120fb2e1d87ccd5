"""What a user has decided once and for all: one TOML file, read when it is needed, never a secret in it.

model = "ollama:qwen2.5-coder:7b"        who answers unless --model says otherwise; "auto": choose for me
may_spend = true                         "auto" may choose what costs money, without --dollars too

[models.openai]                          another address, or another variable that holds the key
base_url = "https://…"
key_env = "MY_KEY"

[models.lab]                             a server of one's own: lab:NAME
kind = "openai"
base_url = "http://127.0.0.1:8000/v1"

[checks]                                 who is asked about packages, in place of what pip and pip-audit are set up with
index_url = "https://…"
advisories_url = "https://…"             a service that speaks OSV's protocol

[context]                                tokens that a model may have in mind, prompt and answer together
"ollama:qwen2.5-coder:7b" = 16384
"""

from burnish.config.change import put
from burnish.config.file import load, path, read, text
from burnish.config.settings import AN_ADDRESS, BUILT_IN, Config, Provider, Services, is_address

__all__ = [
    "AN_ADDRESS",
    "BUILT_IN",
    "Config",
    "Provider",
    "Services",
    "is_address",
    "load",
    "path",
    "put",
    "read",
    "text",
]
