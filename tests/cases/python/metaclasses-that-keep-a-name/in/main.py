from orm.models import Book, Author
print(Book.author.resolve().table, Author.table)
