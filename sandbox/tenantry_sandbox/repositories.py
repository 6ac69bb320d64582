"""Git repositories made from plain folders."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from dulwich.index import commit_tree
from dulwich.objects import Blob, Commit, ObjectID
from dulwich.refs import Ref
from dulwich.repo import Repo

from tenantry.charts import OBJECTS, files_of
from tenantry_sandbox.package import EPOCH

BRANCH = Ref(b"refs/heads/main")
FLEET = "tenantry/fleet"
"""The repository that stands for the fleet's own: it has the chart for baselines in `charts/objects`."""
AUTHOR = b"sandbox <sandbox@example.com>"
FILE_MODE = 0o100644


def publish(source: Path, target: Path) -> None:
    """Publish all folders `<owner>/<repository>` of `source` below `target`, and withdraw repositories whose folder is gone.

    Unchanged content is not committed again. The chart for baselines is in a repository of its own, as a fleet's repository has it.
    """
    contents = {FLEET: {f"charts/objects/{path}": data for path, data in files_of(OBJECTS).items()}}
    contents |= {name: files_of(source / name) for name in folders(source)}
    for name, files in contents.items():
        with _opened(target, name) as repository:
            _commit(repository, {path: _stored(repository, data) for path, data in files.items()}, "Publish the folder")
    for path in target.glob("*/*.git"):
        if str(path.relative_to(target).with_suffix("")) not in contents:
            shutil.rmtree(path)


def commit(target: Path, name: str, changes: Mapping[str, str | None], message: str) -> str:
    """Commit on top of a published repository, as a tenant's push would; returns the commit's id.

    Args:    changes: new content by path; None deletes the file.
    """
    with _opened(target, name) as repository:
        tree = _tree(repository, repository.refs[BRANCH])
        files = {entry.path.decode(): entry.sha for entry in repository.object_store.iter_tree_contents(tree)}
        for path, content in changes.items():
            if content is None:
                del files[path]
            else:
                files[path] = _stored(repository, content.encode())
        return _commit(repository, files, message)


def folders(source: Path) -> tuple[str, ...]:
    """The names `<owner>/<name>` of all folders that are published; hidden ones are not."""
    paths = (path.relative_to(source) for path in source.glob("*/*") if path.is_dir())
    return tuple(sorted(str(path) for path in paths if not any(part.startswith(".") for part in path.parts)))


def _opened(target: Path, name: str) -> Repo:
    path = target / f"{name}.git"
    if (path / "HEAD").is_file():
        return Repo(str(path))
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    return Repo.init_bare(str(path), default_branch=b"main")


def _stored(repository: Repo, data: bytes) -> ObjectID:
    blob = Blob.from_string(data)
    repository.object_store.add_object(blob)
    return blob.id


def _tree(repository: Repo, commit: ObjectID) -> ObjectID:
    found = repository[commit]
    assert isinstance(found, Commit)
    tree: ObjectID = found.tree
    return tree


def _commit(repository: Repo, files: Mapping[str, ObjectID], message: str) -> str:
    """Commit the files, by the ids of their content, unless the branch holds the same already; returns the branch's commit."""
    tree = commit_tree(repository.object_store, [(path.encode(), id, FILE_MODE) for path, id in files.items()])
    parent = repository.refs.as_dict().get(BRANCH)
    if parent and _tree(repository, parent) == tree:
        return parent.decode()
    made = Commit()
    made.tree, made.parents, made.message = tree, [parent] if parent else [], message.encode()
    made.author = made.committer = AUTHOR
    # Always the same time: equal content has equal commits.
    made.author_time = made.commit_time = EPOCH
    made.author_timezone = made.commit_timezone = 0
    repository.object_store.add_object(made)
    repository.refs[BRANCH] = made.id
    return made.id.decode()
