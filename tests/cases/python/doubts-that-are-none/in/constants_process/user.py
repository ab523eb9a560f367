from constants_process.text import shown
