"""Many runs: crossed, resumed, carried out anywhere, compared."""
