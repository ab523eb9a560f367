RUN = "app.a.run"
