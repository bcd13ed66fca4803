"""Saves printed.pdf again with other programs, as people's tools do.

python3 -m venv venv && venv/bin/pip install pikepdf==10.17.0 pymupdf==2.0 pypdf==7.1.0
venv/bin/python tools/corpus/vectors/pdfs/save.py    # with Ghostscript 10.00.0 as gs
"""

import shutil
import subprocess
from pathlib import Path

import pikepdf
import pymupdf
import pypdf

HERE = Path(__file__).parent
PRINTED = str(HERE / "printed.pdf")


def at(name):
    return str(HERE / f"{name}.pdf")


def with_pikepdf(name, **options):
    with pikepdf.open(PRINTED) as pdf:
        pdf.save(at(name), **options)


def with_mupdf(name, **options):
    with pymupdf.open(PRINTED) as pdf:
        pdf.save(at(name), **options)


with_pikepdf("pikepdf")
with_pikepdf("pikepdf-object-streams", object_stream_mode=pikepdf.ObjectStreamMode.generate, recompress_flate=True)
with_pikepdf("pikepdf-linearized", linearize=True)
with_pikepdf("pikepdf-uncompressed", stream_decode_level=pikepdf.StreamDecodeLevel.all, compress_streams=False)
with_pikepdf("pikepdf-encrypted", encryption=pikepdf.Encryption(owner="x", user=""))
with_mupdf("mupdf")
with_mupdf("mupdf-clean", garbage=4, deflate=True, clean=True)
with_mupdf("mupdf-object-streams", garbage=3, use_objstms=1)
with_mupdf("mupdf-ascii", ascii=True, deflate=True)
with_mupdf("mupdf-encrypted", encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="x", user_pw="")

# A note of the reader, added at the end of the file.
shutil.copy(PRINTED, at("mupdf-annotated"))
with pymupdf.open(at("mupdf-annotated")) as pdf:
    pdf[0].add_text_annot((20, 20), "seen")
    pdf.saveIncr()

# Its pages in a new file: attachments stay behind.
with pymupdf.open() as merged:
    merged.insert_pdf(pymupdf.open(PRINTED))
    merged.save(at("mupdf-merged"), garbage=4, deflate=True)

pypdf.PdfWriter(clone_from=PRINTED).write(at("pypdf"))
GS = ["gs", "-q", "-dNOPAUSE", "-dBATCH", "-sDEVICE=pdfwrite"]
subprocess.run([*GS, f"-sOutputFile={at('ghostscript')}", PRINTED], check=True)
