def check_slow(): return "slow"
