"""Many hosts: ranks of MPI that search one tree together."""
