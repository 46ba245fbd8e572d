"""Seed texts: `{a|b}` alternatives, sections, and the split into training and development lines."""
import hashlib
import pathlib
import re

SEEDS = pathlib.Path(__file__).resolve().parent / "seeds"
LANGS = ["en", "zh", "es", "fr", "de", "ja", "pt"]
CHOICE = re.compile(r"\{([^{}]*)\}")


def expand(line, rng):
    """One random reading of a seed line."""
    text = CHOICE.sub(lambda m: rng.choice(m.group(1).split("|")), line)
    return text.replace("\\n", "\n")


def readings(line, rng, most):
    """Up to `most` different readings of a seed line."""
    out = []
    for _ in range(most * 3):
        text = expand(line, rng)
        if text not in out:
            out.append(text)
        if len(out) == most:
            break
    return out


def digest(key):
    return int(hashlib.sha256(key.encode()).hexdigest(), 16)


def held_out(key, one_in=10):
    """Development lines, chosen by the text itself, so that adding seeds moves none of the others."""
    return digest(key) % one_in == 0


def sections(name):
    """`# KEY` starts a section; every other line is one seed. -> {key: [line]}"""
    out, key = {}, None
    for line in (SEEDS / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            key = line[2:].split(":")[0].strip()
            out[key] = []
        elif line.strip() and key:
            out[key].append(line)
    return out


def blocks(name):
    """Texts of several lines, separated by a line of `---`."""
    text = (SEEDS / name).read_text(encoding="utf-8")
    return [b.strip("\n") for b in re.split(r"^---\n", text, flags=re.M) if b.strip()]
