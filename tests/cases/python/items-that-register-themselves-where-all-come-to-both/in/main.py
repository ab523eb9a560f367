from pkg.cli import main

main()
