from srv.api.openai.serving import Serving
