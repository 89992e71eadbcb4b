# tests/system/schema.py: holds answers against the server's own OpenAPI 3.1 description.
#
# Knows the part of JSON Schema that such a description uses; a word it does not know is a failure,
# so that nothing passes unchecked.
#
# SPDX-License-Identifier: MIT
"""A small, strict JSON Schema checker."""
import json
import re
import urllib.parse

TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "integer": lambda v: not isinstance(v, bool) and isinstance(v, (int, float)) and v == int(v),
    "number": lambda v: not isinstance(v, bool) and isinstance(v, (int, float)),
}
FORMATS = {
    "date-time": re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$"),
    "uuid": re.compile(r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"),
}
NOTES = {"description", "title", "default", "example", "examples", "deprecated", "readOnly",
         "writeOnly", "$comment", "contentEncoding", "contentMediaType"}


class Mismatch(AssertionError):
    """An answer that is not what the description says."""


class OpenApi:
    """One description, and the answers that must be true to it."""

    def __init__(self, document):
        self.document = document
        self.paths = [(self.pattern(path), path) for path in document["paths"]]

    @staticmethod
    def pattern(path):
        parts = re.split(r"(\{[^}]*\})", path)
        return re.compile("^" + "".join("[^/]+" if p.startswith("{") else re.escape(p)
                                        for p in parts) + "$")

    def operation(self, method, path):
        plain = urllib.parse.urlsplit(path).path
        found = [name for pattern, name in self.paths if pattern.match(plain)]
        found.sort(key=lambda name: name.count("{"))  # /api/tasks/cancel before /api/tasks/{id}
        for name in found:
            if method.lower() in self.document["paths"][name]:
                return self.document["paths"][name][method.lower()]
        return None

    def resolve(self, node):
        while isinstance(node, dict) and "$ref" in node:
            target = self.document
            for part in node["$ref"].removeprefix("#/").split("/"):
                target = target[part.replace("~1", "/").replace("~0", "~")]
            node = target
        return node

    def check(self, method, path, answer):
        operation = self.operation(method, path)
        if operation is None:
            if answer.status not in (400, 401, 403, 404, 405) and method not in ("HEAD", "OPTIONS"):
                raise Mismatch(f"{method} {path} answers {answer.status}, described nowhere")
            return
        responses = operation["responses"]
        status = str(answer.status)
        found = responses.get(status) or responses.get(status[0] + "XX") or responses.get("default")
        if found is None:
            raise Mismatch(f"{method} {path} answers {status}, described are {list(responses)}")
        self.check_content(f"{method} {path} {status}", self.resolve(found), answer)

    def check_content(self, where, response, answer):
        content = response.get("content")
        if not content:
            if answer.body:
                raise Mismatch(f"{where} has a body, described without")
            return
        media = answer.headers.get("content-type", "").split(";")[0]
        if media not in content:
            raise Mismatch(f"{where} is {media}, described is {list(content)}")
        if media == "application/json":
            self.match(content[media].get("schema", True), json.loads(answer.body), where)

    def match(self, node, value, where):
        """Raises Mismatch unless `value` is what the schema `node` says."""
        if node is True:
            return
        if node is False:
            raise Mismatch(f"{where}: nothing may be here")
        for word, said in node.items():
            if word in NOTES:
                continue
            rule = RULES.get(word)
            if rule is None:
                raise Mismatch(f"{where}: the description uses {word!r}, unknown here")
            rule(self, node, said, value, where)


def fail_unless(good, where, text):
    if not good:
        raise Mismatch(f"{where}: {text}")


def rule_ref(api, _node, said, value, where):
    api.match(api.resolve({"$ref": said}), value, where)


def rule_type(_api, _node, said, value, where):
    names = said if isinstance(said, list) else [said]
    fail_unless(any(TYPES[n](value) for n in names), where, f"{value!r:.200} is no {names}")


def rule_properties(api, _node, said, value, where):
    for key, inner in said.items():
        if isinstance(value, dict) and key in value:
            api.match(inner, value[key], f"{where}.{key}")


def rule_required(_api, _node, said, value, where):
    missing = [key for key in said if isinstance(value, dict) and key not in value]
    fail_unless(not missing, where, f"{missing} missing")


def rule_additional(api, node, said, value, where):
    if isinstance(value, dict):
        for key in set(value) - set(node.get("properties", {})):
            if said is False:
                raise Mismatch(f"{where}: {key!r} is not described")
            api.match(said, value[key], f"{where}.{key}")


def described(api, node):
    """The properties that a schema and those it is made of speak about."""
    node = api.resolve(node) if "$ref" in node and len(node) == 1 else node
    names = set(node.get("properties", {}))
    for inner in node.get("allOf", []) + node.get("anyOf", []) + node.get("oneOf", []):
        names |= described(api, inner)
    return names | (described(api, {"$ref": node["$ref"]}) if "$ref" in node else set())


def rule_unevaluated(api, node, said, value, where):
    for key in set(value) - described(api, node) if isinstance(value, dict) else ():
        api.match(said, value[key], f"{where}.{key}, which is not described")


def rule_names(api, _node, said, value, where):
    for key in value if isinstance(value, dict) else ():
        api.match(said, key, f"{where}: the name {key!r}")


def rule_items(api, _node, said, value, where):
    for at, item in enumerate(value if isinstance(value, list) else ()):
        api.match(said, item, f"{where}[{at}]")


def rule_some(api, node, said, value, where):
    fits, troubles = 0, []
    for inner in said:
        try:
            api.match(inner, value, where)
            fits += 1
        except Mismatch as trouble:
            troubles.append(str(trouble))
    good = fits == 1 if node.get("oneOf") is said else fits >= 1
    fail_unless(good, where, f"fits {fits} of {len(said)}: {troubles}")


def rule_all(api, _node, said, value, where):
    for inner in said:
        api.match(inner, value, where)


def measure(good, text):
    def rule(_api, _node, said, value, where):
        fail_unless(good(value, said), where, f"{value!r:.200} {text} {said!r}")
    return rule


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


RULES = {
    "$ref": rule_ref, "type": rule_type, "properties": rule_properties, "required": rule_required,
    "additionalProperties": rule_additional, "propertyNames": rule_names, "items": rule_items,
    "unevaluatedProperties": rule_unevaluated, "oneOf": rule_some, "anyOf": rule_some, "allOf": rule_all,
    "enum": measure(lambda v, s: v in s, "is none of"),
    "const": measure(lambda v, s: v == s, "is not"),
    "format": measure(lambda v, s: not isinstance(v, str) or s not in FORMATS
                      or FORMATS[s].match(v), "is not in the format"),
    "pattern": measure(lambda v, s: not isinstance(v, str) or re.search(s, v), "does not match"),
    "minimum": measure(lambda v, s: not is_number(v) or v >= s, "is below"),
    "maximum": measure(lambda v, s: not is_number(v) or v <= s, "is above"),
    "exclusiveMinimum": measure(lambda v, s: not is_number(v) or v > s, "is not above"),
    "exclusiveMaximum": measure(lambda v, s: not is_number(v) or v < s, "is not below"),
    "minLength": measure(lambda v, s: not isinstance(v, str) or len(v) >= s, "is shorter than"),
    "maxLength": measure(lambda v, s: not isinstance(v, str) or len(v) <= s, "is longer than"),
    "minItems": measure(lambda v, s: not isinstance(v, list) or len(v) >= s, "has fewer than"),
    "maxItems": measure(lambda v, s: not isinstance(v, list) or len(v) <= s, "has more than"),
    "minProperties": measure(lambda v, s: not isinstance(v, dict) or len(v) >= s, "has below"),
    "maxProperties": measure(lambda v, s: not isinstance(v, dict) or len(v) <= s, "has over"),
}
