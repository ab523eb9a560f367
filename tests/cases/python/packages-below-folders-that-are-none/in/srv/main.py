from openai import OpenAI

from srv.api.openai.serving import Serving


def main():
    return OpenAI(), Serving()
