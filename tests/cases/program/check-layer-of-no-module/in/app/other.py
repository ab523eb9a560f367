import app.ui.window
