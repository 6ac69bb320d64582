import gzip
import hashlib
from pathlib import Path

import pytest
import yaml
from tenantry.sandbox.buckets import publish_charts


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    return make_chart(tmp_path / "web", "web", "1.2.3")


def make_chart(directory: Path, name: str, version: str) -> Path:
    (directory / "templates").mkdir(parents=True)
    (directory / "Chart.yaml").write_text(f"apiVersion: v2\nname: {name}\nversion: {version}\ndescription: a test\n")
    (directory / "templates" / "all.yaml").write_text("kind: ConfigMap\n")
    return directory


def test_the_index_describes_each_archive(chart: Path, tmp_path: Path) -> None:
    target = tmp_path / "served"
    publish_charts([chart], target)

    index = yaml.safe_load((target / "index.yaml").read_text())

    archive = (target / "web-1.2.3.tgz").read_bytes()
    assert index["entries"] == {
        "web": [
            {
                "apiVersion": "v2",
                "name": "web",
                "version": "1.2.3",
                "description": "a test",
                "created": "2000-01-01T00:00:00Z",
                "digest": hashlib.sha256(archive).hexdigest(),
                "urls": ["web-1.2.3.tgz"],
            }
        ]
    }
    assert gzip.decompress(archive)


def test_two_versions_of_a_chart_are_both_served(chart: Path, tmp_path: Path) -> None:
    newer = make_chart(tmp_path / "newer", "web", "1.3.0")
    publish_charts([chart, newer], tmp_path / "served")

    index = yaml.safe_load((tmp_path / "served" / "index.yaml").read_text())

    assert [each["version"] for each in index["entries"]["web"]] == ["1.2.3", "1.3.0"]


def test_publishing_unchanged_charts_touches_no_file(chart: Path, tmp_path: Path) -> None:
    target = tmp_path / "served"
    publish_charts([chart], target)
    before = {path: path.stat().st_mtime_ns for path in target.iterdir()}

    publish_charts([chart], target)

    assert {path: path.stat().st_mtime_ns for path in target.iterdir()} == before


def test_a_chart_that_is_no_longer_named_is_withdrawn(chart: Path, tmp_path: Path) -> None:
    target = tmp_path / "served"
    publish_charts([chart], target)

    publish_charts([], target)

    assert [path.name for path in target.iterdir()] == ["index.yaml"]
