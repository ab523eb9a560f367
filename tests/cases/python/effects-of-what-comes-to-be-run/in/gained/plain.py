def of_printed_for_each(x):
    return x + 1


def of_by_wrapped_function(x):
    return x + 1


def of_by_module_of_others(x):
    return x + 1


def of_by_method_caller(x):
    return x + 1


def of_by_held_object(x):
    return x + 1


def of_by_finalizer(x):
    return x + 1


def of_by_factory_of_field(x):
    return x + 1


def of_by_default_dictionary(x):
    return x + 1


def of_by_bound_method(x):
    return x + 1


def of_appended(x):
    return x + 1


def of_by_attribute(x):
    return x + 1


def of_by_class_method(x):
    return x + 1


def of_by_method(x):
    return x + 1


def of_by_slice(x):
    return x + 1


def of_called(x):
    return x + 1


def of_called_back(x):
    return x + 1


def of_decorated(x):
    return x + 1


def of_decorated_by_call(x):
    return x + 1


def of_decorated_by_object(x):
    return x + 1


def of_exits(x):
    return x + 1


def of_fails_by_argument(x):
    return x + 1


def of_fails_by_assertion(x):
    return x + 1


def of_fails_by_environment(x):
    return x + 1


def of_fails_by_modules(x):
    return x + 1


def of_in_class(x):
    return x + 1


def of_in_loop(x):
    return x + 1


def of_of_a_thread(x):
    return x + 1


def of_of_loggers(x):
    return x + 1


def of_of_numbers(x):
    return x + 1


def of_of_contexts(x):
    return x + 1


def of_of_the_library(x):
    return x + 1


def of_on_exit(x):
    return x + 1


def of_printed(x):
    return x + 1


def of_random(x):
    return x + 1


def of_set(x):
    return x + 1


def of_set_by_call(x):
    return x + 1


def of_update(x):
    return x + 1


def of_z_harmless(x):
    return x + 1


STAYS = 1
