from orm.base import Model, ForeignKey
class Author(Model):
    table = "author"
class Book(Model):
    author = ForeignKey("Author")
