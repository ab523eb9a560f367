from ap.settings import VALUE
