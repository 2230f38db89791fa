"""Write the drawings: ``python -m analysis.concepts``."""

from __future__ import annotations

from pathlib import Path

from analysis.concepts.drawing import save
from analysis.concepts.pictures import PICTURES

IMAGES = Path(__file__).parents[2] / "docs" / "images" / "concepts"

if __name__ == "__main__":
    for name, drawing in PICTURES.items():
        print(save(drawing(), IMAGES / f"{name}.png").name)
