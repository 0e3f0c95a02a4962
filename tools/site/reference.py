"""The pages of the generated reference, by name."""
import command_pages
import field_pages
import machine_pages
import policy_pages
import script_pages

# Name without .md -> title. docs/reference/README.md has a section with the name of each: links lead there in the repository,
# and to the page itself in the site.
PAGES = {
    "commands": "Commands and options",
    "counters": "Results and counters",
    "divergence-policies": "Divergence policies",
    "schedulers": "Schedulers",
    "fetch-policies": "Fetch policies",
    "dispatchers": "Dispatchers",
    "memory-policies": "Memory policies",
    "machines": "Machines and presets",
    "machine-fields": "Fields of a machine",
    "recipes": "Fields of a recipe",
    "sweeps": "Fields of a sweep",
    "suites": "Fields of a suite",
    "hardware": "Fields of a visit to a card",
    "scripts": "Scripts of the source tree",
}


def pages(root, heddle):
    """{name.md: text} of all pages. `heddle` is the built program, with heddle-nvcc beside it."""
    fields, policies = field_pages.Pages(root), policy_pages.Pages(root, heddle)
    texts = {
        "commands": command_pages.commands(heddle, heddle.parent / "heddle-nvcc"),
        "counters": fields.counters(),
        "divergence-policies": policies.seam("divergence"),
        "schedulers": policies.seam("scheduler"),
        "fetch-policies": policies.seam("fetch"),
        "dispatchers": policies.seam("dispatch"),
        "memory-policies": policies.seam("memory"),
        "machines": machine_pages.machines(root, heddle),
        "machine-fields": fields.machine_fields(),
        "recipes": fields.recipes(),
        "sweeps": fields.sweeps(),
        "suites": fields.suites(),
        "hardware": fields.hardware(),
        "scripts": script_pages.scripts(root),
    }
    return {f"{name}.md": texts[name] for name in PAGES}
