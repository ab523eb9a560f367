class LegacyConfig:
    name = "site.legacy"
