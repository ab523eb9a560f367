LIMITS = {"blocks": 4}
