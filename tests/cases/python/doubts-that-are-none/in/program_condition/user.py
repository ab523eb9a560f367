from program_condition.ansi import decoded
