class Table: pass
