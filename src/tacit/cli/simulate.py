"""``tacit simulate``: bias, coverage and power of a planned study, from studies that are drawn."""

from __future__ import annotations

from typing import Annotated

import typer

from tacit.cli.output import JsonFlag, print_json, print_table


def simulate(
    device: Annotated[str, typer.Option(help="Device the item is asked with (see tacit devices).")],
    parameters: Annotated[
        str, typer.Option(help="Chances of the device: 'p=2/3'; for two samples: 'p=1:2/12,2:10/12'.")
    ],
    shares: Annotated[
        str, typer.Option(help="Shares of people with the trait (carriers) to simulate, separated by commas.")
    ],
    respondents: Annotated[int, typer.Option(help="Respondents of each study.")],
    honesty: Annotated[
        float, typer.Option(help="Share of carriers who follow the device; the other carriers deny the trait.")
    ] = 1.0,
    against: Annotated[
        float | None, typer.Option(help="Share that each study tests its estimate against: gives the power.")
    ] = None,
    studies: Annotated[int, typer.Option(help="Number of studies to draw.")] = 2000,
    level: Annotated[float, typer.Option(help="Confidence level of the intervals and the test.")] = 0.95,
    seed: Annotated[int | None, typer.Option(help="Makes the draws repeatable.")] = None,
    json: Annotated[bool, JsonFlag] = False,
) -> None:
    """Draw studies from a design and report the bias, coverage and power of their estimates."""
    from tacit.channel.device_parameters import exact_chances
    from tacit.channel.devices import design
    from tacit.estimation.simulated_studies import simulate_studies

    made = design(device, parameters)
    results = [
        simulate_studies(
            made, float(share), respondents, honesty=honesty, studies=studies, against=against, level=level, seed=seed
        )
        for share in exact_chances("--shares", shares)
    ]
    if json:
        print_json({"simulations": [result.to_document() for result in results]})
        return
    for result in results:
        rows = [(row["figure"], f"{row['value']:.4f}", f"{row['standard_error']:.4f}") for row in result.shown_rows()]
        print_table(result.headline(), ("figure", "value", "± (by chance)"), rows)
