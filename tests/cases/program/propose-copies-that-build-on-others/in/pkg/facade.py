from helpers.memory import free_bytes, used_bytes
