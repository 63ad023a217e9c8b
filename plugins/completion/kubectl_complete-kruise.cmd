@rem kubectl calls this for completion behind "kubectl kruise". Put it into a folder of
@rem PATH, beside kubectl-kruise.exe.
@kubectl-kruise __complete %*
