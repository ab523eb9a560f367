class Bing:
    url = "https://bing"
