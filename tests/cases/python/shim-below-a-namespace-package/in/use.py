import acme.radar

acme.radar.io.open_file()
