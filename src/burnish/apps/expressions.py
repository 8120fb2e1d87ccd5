"""What a generated app says in Python, Jinja and HTML about a field, a condition, a change: by its type.

One `Wording` an entity; the skeletons ask it. Everything it gives is whole and safe at its place: names are identifiers
by the blueprint's own check, and words that people or models wrote become literals.
"""

import datetime as dt
import json
import re
from collections.abc import Sequence
from html import escape

from burnish.apps.blueprint import NUMBERS, Blueprint, Change, Computed, Condition, Entity, Field, RowRule
from burnish.errors import SetupProblem

HINTS = {
    **{"integer": "int", "decimal": "float", "yes_no": "bool", "reference": "int"},
    **{"date": "dt.date", "date_time": "dt.datetime", "time": "dt.time"},
}
INPUTS = {
    **{"text": "text", "integer": "number", "decimal": "number", "email": "email", "link": "url"},
    **{"date": "date", "date_time": "datetime-local", "time": "time"},
}
NOW = {
    "date": "dt.date.today()",
    "date_time": "dt.datetime.now().replace(microsecond=0)",
    "time": "dt.datetime.now().time().replace(microsecond=0)",
}
SEARCHED = ("text", "long_text", "email", "link")
OUR_CLASSES = {
    *("Annotated", "Any", "APIRouter", "Base", "Choice", "ColumnElement", "Depends", "ForeignKey", "HTTPException"),
    *("IntegrityError", "Invalid", "Link", "Login", "Mapped", "Markup", "Member", "NotLoggedIn", "Reader", "Reading"),
    *("Request", "Response", "RowId", "Select", "Session", "Typed", "Viewer", "Writing", "Account", "Exception"),
}
"""What generated code imports: a table of such a name is called otherwise."""


def name_class(name: str) -> str:
    """The class of an entity."""
    camel = "".join(part.capitalize() for part in name.split("_"))
    return f"{camel}Row" if camel in OUR_CLASSES else camel


def quote_python(text: object) -> str:
    """Words as a literal in Python."""
    return repr(text)


def quote_jinja(text: str) -> str:
    """Words as a literal in an expression of Jinja, inside HTML."""
    return re.sub(r"[<>&{}%']", lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def escape_html(text: str) -> str:
    """Words as text or in an attribute of a template, where Jinja must not see any of its own signs either."""
    return escape(text).replace("{", "&#123;").replace("}", "&#125;")


def tame_docstring(text: str) -> str:
    """Words inside a docstring."""
    return re.sub(r"[\"\\]|\s+", " ", text).strip() or "-"


class Wording:
    """How the code of one entity's module says what its blueprint says."""

    def __init__(self, blueprint: Blueprint, entity: Entity) -> None:
        self.blueprint, self.entity = blueprint, entity
        self.taken = {one.name for part in (entity.fields, entity.computed) for one in part}

    def name_free(self, name: str) -> str:
        """An attribute that no field of the entity has."""
        return self.name_free(f"{name}_") if name in self.taken else name

    def name_relation(self, field: Field) -> str:
        """The attribute that leads to the row that a reference means."""
        return self.name_free(f"{field.name}_row")

    def name_title(self, field: Field) -> str:
        """The column that names the row that a reference means."""
        title = self.blueprint.entity(field.target).title_field
        return "id" if title.type == "reference" else title.name

    def name_visible(self, field: Field) -> str:
        """The function that selects what may be referred to."""
        return "visible" if field.target == self.entity.name else f"{field.target}_service.visible"

    def write_hint(self, field: Field) -> str:
        """The Python type."""
        return HINTS.get(field.type, "str") + ("" if field.required or field.type == "yes_no" else " | None")

    def write_read(self, field: Field) -> str:
        """The call that reads what was typed."""
        method = {"reference": "row"}.get(field.type, field.type)
        limits = f", options={field.name.upper()}_OPTIONS" if field.options else ""
        for name, limit in (("minimum", field.minimum), ("maximum", field.maximum)):
            limits += f", {name}={self._write_number(field, limit)}" if limit is not None else ""
        if field.required or field.type == "yes_no":
            return f'reader.{method}("{field.name}"{limits})'
        return f'reader.optional(reader.{method}, "{field.name}"{limits})'

    def _write_number(self, field: Field, limit: float) -> str:
        return str(int(limit) if field.type == "integer" else float(limit))

    def write_default(self, field: Field) -> str:
        """What a new form has in a field, as Python."""
        if field.default in ("today", "now") and field.type in NOW:
            return f"type_value({NOW[field.type]})"
        return quote_python(field.default)

    def write_literal(self, field: Field, value: str) -> str:
        """A typed value as Python. Raises SetupProblem for what is none of the type."""
        if not value and field.type not in SEARCHED:
            return "None"
        if value in ("today", "now") and field.type in NOW:
            return NOW[field.type]
        try:
            match field.type:
                case "integer":
                    return str(int(value))
                case "decimal":
                    return str(float(value))
                case "yes_no":
                    return str(value == "yes")
                case "date":
                    day = dt.date.fromisoformat(value)
                    return f"dt.date({day.year}, {day.month}, {day.day})"
                case "date_time":
                    at = dt.datetime.fromisoformat(value)
                    return f"dt.datetime({at.year}, {at.month}, {at.day}, {at.hour}, {at.minute})"
                case "time":
                    time = dt.time.fromisoformat(value)
                    return f"dt.time({time.hour}, {time.minute})"
                case _:
                    return quote_python(value)
        except ValueError:
            where = f"{self.entity.name}.{field.name}"
            raise SetupProblem(f"{where}: {value!r} is no {field.type}. Change it in the blueprint.") from None

    def write_condition(self, condition: Condition, before: str) -> str:
        """A condition as Python, where `before` stands before each field; with an empty field it does not hold."""
        field = self._find_field(condition.field)
        left = f"{before}{field.name}"
        optional = not field.required and field.type != "yes_no"
        given = f"{left} is not None and " if optional else ""
        match condition.operator:
            case "is_empty" | "is_set" if field.type == "yes_no":
                return left if condition.operator == "is_set" else f"not {left}"
            case "is_empty":
                return f"{left} is None"
            case "is_set":
                return f"{left} is not None"
            case "is_past":
                return f"{given}{left} < {NOW[field.type]}"
            case "is_future":
                return f"{given}{left} > {NOW[field.type]}"
        if condition.other:
            other = self._find_field(condition.other)
            right = f"{before}{other.name}"
            given += f"{right} is not None and " if not other.required and other.type != "yes_no" else ""
        elif field.type == "yes_no":
            return left if (condition.value == "yes") == (condition.operator == "=") else f"not {left}"
        else:
            right = self.write_literal(field, condition.value)
        if condition.operator == "!=":
            return f"{left} != {right}"
        return f"{given}{left} {'==' if condition.operator == '=' else condition.operator} {right}"

    def write_sql(self, conditions: Sequence[Condition]) -> str:
        """Conditions as SQLAlchemy says them, with the same meaning as `write_condition`."""
        return ", ".join(map(self._write_sql, conditions))

    def _write_sql(self, condition: Condition) -> str:
        field = self._find_field(condition.field)
        table = name_class(self.entity.name)
        left = f"{table}.{field.name}"
        match condition.operator:
            case "is_empty" | "is_set" if field.type == "yes_no":
                return f"{left}.is_({condition.operator == 'is_set'})"
            case "is_empty":
                return f"{left}.is_(None)"
            case "is_set":
                return f"{left}.is_not(None)"
            case "is_past":
                return f"{left} < {NOW[field.type]}"
            case "is_future":
                return f"{left} > {NOW[field.type]}"
        if not condition.other and field.type == "yes_no":
            return f"{left}.is_({(condition.value == 'yes') == (condition.operator == '=')})"
        right = f"{table}.{condition.other}" if condition.other else self.write_literal(field, condition.value)
        if condition.operator == "!=":
            return f"{left}.is_distinct_from({right})"
        return f"{left} {'==' if condition.operator == '=' else condition.operator} {right}"

    def write_change(self, change: Change) -> str:
        """What an action does to a row, as a statement."""
        field = self._find_field(change.field)
        row = f"row.{field.name}"
        if change.how == "toggle":
            return f"{row} = not {row}"
        if change.how == "set":
            return (
                f"{row} = {self.write_literal(field, change.value) if change.value or not field.required else repr('')}"
            )
        amount = float(change.value) if field.type == "decimal" else round(float(change.value))
        step = f"{'-' if amount < 0 else '+'} {abs(amount)}"
        now = row if field.required else f"({row} or 0)"
        return f"{row} = round({now} {step}, 6)" if field.type == "decimal" else f"{row} = {now} {step}"

    def list_limits(self, change: Change) -> list[tuple[str, str]]:
        """What must not be after a change: the test, and what is said then."""
        field = self._find_field(change.field)
        row, label = f"row.{field.name}", field.label
        tests = []
        if change.how == "add" and field.minimum is not None:
            least = self._write_number(field, field.minimum)
            tests.append((f"{row} < {least}", f"{label} would be less than {least}."))
        if change.how == "add" and field.maximum is not None:
            most = self._write_number(field, field.maximum)
            tests.append((f"{row} > {most}", f"{label} would be more than {most}."))
        return tests

    def write_guard(self, rule: RowRule) -> str:
        """The beginning of a test that leaves out rows with an empty field."""
        fields = [self._find_field(name) for name in (*rule.fields, *rule.per)]
        return "".join(f"form.{one.name} is not None and " for one in fields if not one.required)

    def list_labels(self, rule: RowRule) -> str:
        """The fields of a rule, for people."""
        return ", ".join(self._find_field(name).label for name in rule.fields)

    def list_parameters(self, one: Computed) -> list[Field]:
        """The fields that a computed one is made from."""
        names = (one.condition.field, one.condition.other) if one.condition else one.takes
        return [self._find_field(name) for name in dict.fromkeys(names) if name]

    def write_text(self, field: Field) -> str:
        """A field as text in a template: never empty, as it is the text of a link or a heading."""
        row = f"row.{field.name}"
        if field.type == "reference":
            relation = f"row.{self.name_relation(field)}"
            label = f"{relation}.{self.name_title(field)}|shown"
            return f'{{{{ {label} if {relation} else "#" ~ row.id }}}}'
        if field.type in (*SEARCHED, "choice"):
            return f'{{{{ {row} or "#" ~ row.id }}}}'
        return f'{{{{ {row}|shown or "#" ~ row.id }}}}'

    def write_cell(self, field: Field) -> str:
        """A field as HTML in a template."""
        row = f"row.{field.name}"
        empty = "" if field.required else ' or ""'
        match field.type:
            case "yes_no":
                return f'{{{{ "yes" if {row} else "no" }}}}'
            case "reference":
                target = f"row.{self.name_relation(field)}"
                title = self.name_title(field)
                label = f"#{{{{ {row} }}}}" if title == "id" else f"{{{{ {target}.{title}|shown }}}}"
                return f'{{% if {target} %}}<a href="/{field.target}/{{{{ {row} }}}}">{label}</a>{{% endif %}}'
            case "email" | "link":
                begin = "mailto:" if field.type == "email" else ""
                rel = ' rel="noopener noreferrer"' if field.type == "link" else ""
                anchor = f'<a href="{begin}{{{{ {row} }}}}"{rel}>{{{{ {row} }}}}</a>'
                return anchor if field.required else f"{{% if {row} %}}{anchor}{{% endif %}}"
            case "decimal":
                return f"{{{{ {row}|decimal }}}}"
            case "text" | "long_text" | "choice" | "date":
                return f"{{{{ {row}{empty} }}}}"
            case _:
                return f"{{{{ {row}|shown }}}}"

    def write_input(self, field: Field) -> str:
        """The call of a macro that shows a field of a form."""
        words = [quote_jinja(field.name), quote_jinja(field.label)]
        more = [] if field.required or field.type == "yes_no" else ["required=false"]
        more += [f"help={quote_jinja(field.help)}"] if field.help else []
        match field.type:
            case "yes_no":
                macro = "checkbox"
            case "long_text":
                macro = "text_area"
            case "choice" | "reference":
                macro = "select_field"
                words.append(self.write_options(field))
            case _:
                macro = "input_field"
                words.append(quote_jinja(INPUTS[field.type]))
                if field.type in NUMBERS:
                    more.append('step="any"' if field.type == "decimal" else 'step="1"')
                limits = (("min", field.minimum), ("max", field.maximum))
                more += [f'{name}="{self._write_number(field, limit)}"' for name, limit in limits if limit is not None]
        return f"{macro}({', '.join([*words, 'typed', 'errors', *more, 'at=at'])})"

    def write_options(self, field: Field) -> str:
        """What a select offers: pairs of what is sent and what is read, as Jinja."""
        if field.type == "reference":
            return f'choices["{field.name}"]'
        options = [quote_jinja(option) for option in field.options or ("yes", "no")]
        return f"[{', '.join(f'({option}, {option})' for option in options)}]"

    def _find_field(self, name: str) -> Field:
        field = self.entity.field(name)
        assert field is not None, "the blueprint has checked it"
        return field
