from p.auth import Simple
