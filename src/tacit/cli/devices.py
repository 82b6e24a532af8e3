"""``tacit devices``: the devices of the literature, as a list, and each as a page to print."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tacit.cli.output import JsonFlag, print_json, print_table, print_text

if TYPE_CHECKING:
    from tacit.channel.devices import Device, DeviceDesign
    from tacit.channel.moment_devices import MomentDesign

ParametersOption = typer.Option(help="Chances of the device, such as 'p=2/3', as fractions, decimals or percent.")


def devices(
    name: Annotated[
        str | None, typer.Argument(help="Device to show as a page; without it all devices are listed.")
    ] = None,
    parameters: Annotated[str | None, ParametersOption] = None,
    question: Annotated[str, typer.Option(help="Sensitive question that the page shows.")] = "Have you ever ...?",
    out: Annotated[Path | None, typer.Option(help="Write the page into this file (.html, .md or .txt).")] = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """List the devices for asking sensitive questions; with NAME, show the steps, the formula and the privacy of one device."""
    from tacit.channel.devices import DEVICES, design
    from tacit.channel.moment_devices import MOMENT_DEVICES, moment_design
    from tacit.errors import UnknownName

    if name in MOMENT_DEVICES:
        _describe(moment_design(name, parameters or MOMENT_DEVICES[name].example), json=json)
        return
    if name is None:
        _list([design(device.name, device.example) for device in DEVICES.values()], json=json)
        return
    if name not in DEVICES:
        raise UnknownName("Device", name, [*DEVICES, *MOMENT_DEVICES])
    _page(design(name, parameters or DEVICES[name].example), question, out, json=json)


def _list(designs: list[DeviceDesign], *, json: bool) -> None:
    from tacit.channel.moment_devices import MOMENT_DEVICES

    if json:
        others = [_named(device) for device in MOMENT_DEVICES.values()]
        print_json({"devices": [*(_document(made) for made in designs), *others]})
        return
    all_devices = [*(made.device for made in designs), *MOMENT_DEVICES.values()]
    rows = [(device.name, ", ".join(device.parameters), device.law, device.source or "-") for device in all_devices]
    print_table("Devices of the literature", ("device", "parameters", "law", "source"), rows)
    print_text("`tacit devices NAME` prints what the interviewer and the respondent do, for chances of your own.")


def _page(made: DeviceDesign, question: str, out: Path | None, *, json: bool) -> None:
    from tacit.channel.device_pages import page
    from tacit.design.power import costs

    page_text = page(made, question, costs(made))
    text = page_text.to_text()
    if out is not None:
        from tacit.table.outputs import written_whole

        with written_whole(out) as temporary:
            is_html = out.suffix.lower() in (".html", ".htm")
            temporary.write_text(page_text.to_html() if is_html else text, encoding="utf-8")
    if json:
        print_json({**_document(made), "page": text} | ({} if out is None else {"out": str(out)}))
    else:
        print_text(text if out is None else f"{out}: the page of {made.device.title}.")


def _named(device: Device) -> dict[str, Any]:
    """What a catalogue says of a device."""
    return {
        "name": device.name,
        "title": device.title,
        "source": device.source,
        "law": device.law,
        "parameters": dict(device.parameters),
        "example": device.example,
    }


def _describe(made: MomentDesign, *, json: bool) -> None:
    """A device whose reports are numbers: what each report adds to the mean."""
    samples = [sample._asdict() for sample in made.samples]
    if json:
        print_json({**_named(made.device), "samples": samples})
        return
    lines = [f"{made.device.title} ({made.device.source})", f"  {made.device.law}"]
    lines += [f"  {name}: {meaning}" for name, meaning in made.device.parameters.items()]
    for sample in made.samples:
        where = "" if sample.name is None else f" of the sample {sample.name}"
        lines.append(f"  Each report{where} adds {sample.factor:.6g} x (report - {sample.shift:.6g}) to the mean.")
    lines.append(f"  tacit prevalence FILE --item X --device {made.name} --parameters '{made.device.example}'")
    print_text("\n".join(lines))


def _document(made: DeviceDesign) -> dict[str, Any]:
    from tacit.design.power import one_respondent

    device: Device = made.device
    return {
        **_named(device),
        "samples": [
            {"sample": sample.name, "matrix": sample.matrix.tolist(), "classes": list(made.classes)}
            for sample in made.samples
        ],
        "reports": list(made.reports),
        "gamma": made.amplification,
        "estimates": list(device.opens),
        "error": one_respondent(made, 0.5) ** 0.5,
        "warnings": [] if made.amplification < float("inf") else ["gamma is infinite: one report proves an answer."],
    }
