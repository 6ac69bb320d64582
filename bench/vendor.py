"""A vendor's fleet: each customer is a tenant, and all of them are alike.

`python -m bench.vendor [--customers N]` prints what the fleet weighs with a line for each customer and with all that a customer has
written out, and how long commands take on both.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from bench.fleets import write
from tenantry.facts.objects import differences
from tenantry.load import load_fleet, plan_all
from tenantry.render import files

PLANS = ("small", "small", "small", "large")
EXTRAS = ("", "", "sso", "backup")
CELLS = ("eu-1", "eu-2", "us-1", "us-2")

MAIN = """\
apiVersion: tenantry/v1
environments:
  test: {management: hub-test, namespace: "c-{tenant}", tenants: [acme]}
  prod: {management: hub, after: test, namespace: "c-{tenant}", protected: true, maxDeletions: 5%}
templates:
  clusters:
    cell:
      environments: [prod]
      kubeconfig: {capi: {cluster: "{cluster}", namespace: clusters}}
  tenants:
    customer:
      variables: {seats: 5}
      clusters: {labels: {cell: "{cell}"}}
      sources: {charts: {helm: {url: "https://charts.example.com"}}}
      apps:
        app: {helm: {source: charts, chart: shop, version: 4.2.0, values: {seats: "{seats}", host: "{tenant}.example.com"}}}
        db: {helm: {source: charts, chart: postgres, version: 16.1.0}}
    small: {from: customer, quota: {pods: 10}}
    large: {from: customer, quota: {pods: 50}}
    sso: {apps: {sso: {helm: {source: charts, chart: sso, version: 2.1.0}}}}
    backup: {apps: {backup: {helm: {source: charts, chart: backup, version: 1.4.0}}}}
clusters:
  hub: {environments: [prod]}
  hub-test: {environments: [test], labels: {cell: test}}
  eu-1: {from: cell, labels: {cell: eu-1, region: eu}}
  eu-2: {from: cell, labels: {cell: eu-2, region: eu}}
  us-1: {from: cell, labels: {cell: us-1, region: us}}
  us-2: {from: cell, labels: {cell: us-2, region: us}}
platform:
  chart: {helm: {url: "https://charts.example.com", version: 1.0.0}}
"""


class Customer(NamedTuple):
    """plan, extra: templates; extra: "": none. state: "": it is active. seats: None: as the template says."""

    name: str
    plan: str
    extra: str
    state: str
    seats: int | None
    cell: str


def customers(count: int) -> list[Customer]:
    return [
        Customer(
            name="acme" if index == 0 else f"customer-{index}",
            plan=PLANS[index % 4],
            extra=EXTRAS[index // 2 % 4],
            state="paused" if index % 100 == 99 else "",
            seats=index % 50 * 5 if index % 3 else None,
            cell=CELLS[index % 4],
        )
        for index in range(count)
    ]


def in_lines(count: int) -> bytes:
    """The fleet with a line for each customer."""
    return (MAIN + "tenants:\n" + "".join(map(_line, customers(count)))).encode()


def _line(customer: Customer) -> str:
    templates = f"[{customer.plan}, {customer.extra}]" if customer.extra else customer.plan
    seats = "" if customer.seats is None else f", seats: {customer.seats}"
    state = customer.state and f", state: {customer.state}"
    return f"  {customer.name}: {{from: {templates}, variables: {{cell: {customer.cell}{seats}}}{state}}}\n"


def written_out(count: int) -> bytes:
    """The same fleet with all that a tenant has in an entry of its own."""
    main: dict[str, Any] = yaml.safe_load(MAIN)
    templates = main["templates"].pop("tenants")
    main["tenants"] = {customer.name: _entry(customer, templates) for customer in customers(count)}
    return yaml.dump(main, sort_keys=False, Dumper=_Plain).encode()


class _Plain(yaml.SafeDumper):
    """Writes equal parts out, as people do."""

    def ignore_aliases(self, data: Any) -> bool:
        del data
        return True


def _entry(customer: Customer, templates: dict[str, Any]) -> dict[str, Any]:
    base = templates["customer"]
    seats = base["variables"]["seats"] if customer.seats is None else customer.seats
    entry = {
        "variables": {"seats": seats},
        "clusters": {"labels": {"cell": customer.cell}},
        "sources": base["sources"],
        "apps": {**base["apps"], **templates.get(customer.extra, {"apps": {}})["apps"]},
        "quota": templates[customer.plan]["quota"],
    }
    return {**entry, **({"state": customer.state} if customer.state else {})}


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Weigh a vendor's fleet with a line for each customer and written out."
    )
    parser.add_argument("--customers", type=int, default=800)
    count = parser.parse_args().customers
    for name, text in (("lines", in_lines(count)), ("written out", written_out(count))):
        with tempfile.TemporaryDirectory() as directory:
            print(f"{name}: {_weighed(write(Path(directory), text))}")
    return 0


def _weighed(file: Path) -> str:
    size = f"{len(file.read_text().splitlines())} lines, {file.stat().st_size} bytes"
    seconds: dict[str, float] = {}
    plans = _timed(seconds, "validate", lambda: plan_all(load_fleet(file)))
    _timed(seconds, "render", lambda: [dict(files(plan.objects)) for plan in plans.values()])
    file.write_text(file.read_text().replace("version: 4.2.0", "version: 4.3.0"))
    _timed(seconds, "diff", lambda: differences(plans, plan_all(load_fleet(file))))
    objects = sum(len(plan.objects) for plan in plans.values())
    times = ", ".join(f"{what} {took:.2f} s" for what, took in seconds.items())
    return f"{size}; {objects} objects; {times}"


def _timed(seconds: dict[str, float], what: str, run: Callable[[], Any]) -> Any:
    start = time.process_time()
    found = run()
    seconds[what] = time.process_time() - start
    return found


if __name__ == "__main__":
    sys.exit(main())
