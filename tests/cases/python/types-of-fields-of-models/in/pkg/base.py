from pydantic import BaseModel


class Base(BaseModel):
    pass
