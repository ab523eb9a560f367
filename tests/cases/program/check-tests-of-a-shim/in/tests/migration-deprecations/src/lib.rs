use ::old::run as _;
