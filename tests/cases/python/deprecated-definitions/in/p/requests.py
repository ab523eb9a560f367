from p import forms


class Request:
    form = forms.Message.START
