def main():
    print("acme is here", f"no acme for {main}", "acme")
