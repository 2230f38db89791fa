"""Published numbers, as printed.

D2.3 is deliverable D2.3 of DEEP-EST (754304), Rosas is Rosas et al. 2014 (scalability prediction for
fundamental performance factors), Kerbyson is Kerbyson et al. 2002 (SAGE).
"""

from __future__ import annotations

import io

import pandas as pd

XPIC = """\
processes,global_eff,parallel_eff,load_balance,comm_eff,serialization_eff,transfer_eff,comp_scalability,ipc_scalability,instr_scalability,freq_scalability
24,98.94,98.94,99.48,99.46,99.85,99.61,100.00,100.00,100.00,100.00
48,98.33,98.47,99.50,98.96,99.65,99.31,99.86,100.02,100.00,99.85
96,98.20,98.14,99.26,98.87,99.43,99.43,100.06,100.04,100.00,100.02
192,98.01,98.10,98.92,99.17,99.94,99.24,99.91,100.01,100.00,99.89
384,97.00,96.90,98.80,98.08,99.89,98.19,100.11,100.09,100.00,100.01
"""
"""D2.3, Table 10: xPIC, MPI, weak scaling; %."""

NEST_ARBOR = """\
processes,global_eff,hybrid_parallel_eff,mpi_parallel_eff,mpi_load_balance,mpi_comm_eff,cuda_parallel_eff,cuda_load_balance,cuda_comm_eff,comp_scalability
2,33.79,33.79,47.19,54.90,85.96,71.60,71.94,99.52,100.00
4,49.76,34.96,54.56,66.15,82.47,64.09,64.52,99.33,142.35
8,52.20,33.93,56.76,71.61,79.26,59.77,60.49,98.82,153.83
16,51.74,34.89,57.06,69.06,82.63,61.15,61.72,99.07,148.29
32,40.45,30.12,49.35,70.19,70.31,61.02,61.94,98.52,134.30
64,11.50,8.89,14.91,81.13,18.37,59.67,60.22,99.08,129.38
90,5.85,4.55,7.72,86.92,8.88,58.88,59.52,98.91,128.57
"""
"""D2.3, Table 13: NEST and Arbor, MPI and CUDA; %."""

NEXTDBSCAN = """\
processes,global_eff,parallel_eff,load_balance,comm_eff,comp_scalability,ipc_scalability,instr_scalability,freq_scalability
24,99.46,99.46,99.47,100.00,100.00,100.00,100.00,100.00
48,99.37,99.74,99.84,99.90,99.63,99.63,100.00,99.99
96,73.80,99.67,99.81,99.86,74.05,99.96,74.11,99.97
192,73.73,99.57,99.73,99.84,74.04,99.93,74.10,99.99
384,73.65,99.47,99.69,99.78,74.04,99.94,74.10,99.98
768,73.66,99.42,99.62,99.80,74.08,99.99,74.10,99.98
1056,73.53,99.23,99.50,99.73,74.10,100.01,74.11,99.97
"""
"""D2.3, Table 16: NextDBSCAN, strong scaling; %."""

NEXTDBSCAN_HYBRID = """\
processes,hybrid_parallel_eff,mpi_parallel_eff,mpi_load_balance,mpi_comm_eff,mpi_serialization_eff,mpi_transfer_eff,omp_parallel_eff,omp_load_balance,omp_comm_eff
24,99.46,99.52,99.52,100.00,100.00,100.00,99.94,99.94,100.00
48,99.74,99.82,99.92,99.90,99.91,100.00,99.92,99.92,100.00
96,99.67,99.75,99.89,99.86,99.86,100.00,99.92,99.92,100.00
192,99.57,99.66,99.81,99.85,99.86,100.00,99.92,99.92,99.99
384,99.47,99.57,99.77,99.79,99.80,99.99,99.90,99.92,99.99
768,99.42,99.55,99.74,99.81,99.83,99.98,99.87,99.88,99.99
1056,99.23,99.37,99.62,99.74,99.78,99.96,99.86,99.87,99.99
"""
"""D2.3, Table 17: NextDBSCAN, MPI and OpenMP; %."""

ECEARTH_1TO1 = """\
processes,global_eff,parallel_eff,load_balance,comm_eff,serialization_eff,transfer_eff,comp_scalability,ipc_scalability,instr_scalability,freq_scalability
73,60.78,60.78,64.77,93.84,96.65,97.09,100.00,100.00,100.00,100.00
121,68.45,63.88,70.78,90.25,95.69,94.32,107.16,97.28,110.20,99.96
165,61.06,55.13,74.76,73.75,85.14,86.62,110.76,96.70,114.92,99.67
213,63.83,56.65,73.75,76.81,93.35,82.29,112.69,97.57,117.25,98.50
313,54.75,49.95,63.03,79.24,98.72,80.27,109.61,97.44,115.73,97.20
"""
"""D2.3, Table 18: EC-EARTH, ratio 1:1; %."""

ECEARTH_2TO3 = """\
processes,global_eff,parallel_eff,load_balance,comm_eff,serialization_eff,transfer_eff,comp_scalability,ipc_scalability,instr_scalability,freq_scalability
85,61.34,61.34,83.40,73.54,82.15,89.52,100.00,100.00,100.00,100.00
145,53.83,50.96,85.81,59.39,78.41,75.74,105.63,95.39,111.10,99.67
201,59.36,55.96,80.09,69.89,88.82,78.67,106.08,96.24,111.70,98.68
261,55.67,52.66,72.99,72.14,91.56,78.79,105.73,95.18,114.10,97.35
385,46.35,45.51,54.99,82.76,99.95,82.80,101.85,95.55,112.05,95.14
"""
"""D2.3, Table 19: EC-EARTH, ratio 2:3; %. One cell is misprinted."""

ROSAS = """\
app,ranks,factor,predicted,error_pct
HACC,512,load_balance,0.952,-0.82
HACC,512,serialization,0.86,1.81
HACC,512,transfer,0.517,-6.78
HACC,512,parallel_efficiency,0.424,-5.61
HACC,1024,load_balance,0.948,-0.17
HACC,1024,serialization,0.857,2.34
HACC,1024,transfer,0.452,-15.47
HACC,1024,parallel_efficiency,0.368,-13.64
HACC,2048,load_balance,0.943,-0.68
HACC,2048,serialization,0.855,2.45
HACC,2048,transfer,0.391,-9.39
HACC,2048,parallel_efficiency,0.315,-7.8
HACC,4096,load_balance,0.937,0.82
HACC,4096,serialization,0.853,1.83
HACC,4096,transfer,0.333,-27.19
HACC,4096,parallel_efficiency,0.267,-25.25
Nekbone,256,load_balance,0.972,-0.003
Nekbone,256,serialization,0.985,0.002
Nekbone,256,transfer,0.992,-0.001
Nekbone,256,parallel_efficiency,0.95,-0.002
Nekbone,512,load_balance,0.95,-0.007
Nekbone,512,serialization,0.977,0.004
Nekbone,512,transfer,0.989,0.001
Nekbone,512,parallel_efficiency,0.919,-0.001
AMG2013,256,load_balance,0.921,-0.16
AMG2013,256,serialization,0.937,0.95
AMG2013,256,transfer,0.941,0.55
AMG2013,256,parallel_efficiency,0.813,1.45
AMG2013,384,load_balance,0.908,-3.08
AMG2013,384,serialization,0.908,6.05
AMG2013,384,transfer,0.914,1.94
AMG2013,384,parallel_efficiency,0.754,4.42
AVBP,520,load_balance,0.907,-1.42
AVBP,520,serialization,0.925,3.23
AVBP,520,transfer,0.973,-0.7
AVBP,520,parallel_efficiency,0.816,0.93
AVBP,768,load_balance,0.886,-2.54
AVBP,768,serialization,0.893,-1.0
AVBP,768,transfer,0.961,-0.82
AVBP,768,parallel_efficiency,0.761,-4.15
AVBP,1024,load_balance,0.867,-3.66
AVBP,1024,serialization,0.862,-4.4
AVBP,1024,transfer,0.948,6.21
AVBP,1024,parallel_efficiency,0.709,-2.16
AVBP,1536,load_balance,0.83,-5.68
AVBP,1536,serialization,0.807,-10.54
AVBP,1536,transfer,0.925,-1.45
AVBP,1536,parallel_efficiency,0.62,-16.46
"""
"""Rosas, Tables 2 to 5: predicted factors and their printed errors (%)."""

SAGE_TCOMM = {
    8: (9.0, 6.1),
    63: (9.0, 6.1),
    64: (10.8392, 7.2208),
    256: (14.2568, 9.5632),
    512: (18.8136, 12.6864),
    513: (23.9664, 18.0579),
    1024: (30.5072, 22.2992),
    8192: (122.2576, 81.7936),
    65536: (856.2608, 557.7488),
}
"""Kerbyson, Table 3 (ES45): bytes to µs of a message at 33 and 66 MHz PCI, by hand from L_c and 1/B_c."""


def table(text: str, scale: float = 0.01) -> pd.DataFrame:
    """Return a table under our names of the factors, as shares of 1."""
    from scheduler_sim.scaling.names import canonical

    read = pd.read_csv(io.StringIO(text))
    read = read.rename(columns={word: canonical(word) or word for word in read.columns})
    factors = [name for name in read.columns if name != "processes"]
    read[factors] *= scale
    return read


def rosas() -> pd.DataFrame:
    """Return Rosas, Tables 2 to 5."""
    return pd.read_csv(io.StringIO(ROSAS))
