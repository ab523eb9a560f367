import ssl

CONTEXT = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
