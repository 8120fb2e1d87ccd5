"""Values that the contract tests of a generated app type: good ones, each time others, and wrong ones by type."""

import datetime as dt

from burnish.apps.blueprint import Blueprint, Entity, Field

DAY = dt.datetime(2090, 1, 1, 8)
"""Far ahead, as some fields may not lie in the past."""


class TypedSamples:
    """What to type into a form of an entity."""

    def __init__(self, blueprint: Blueprint, entity: Entity) -> None:
        self.entity = entity
        self.ranks = {field.name: 0 for field in entity.fields}
        for _ in entity.rules:  # once for each, as one order may follow on another
            for rule in entity.rules:
                if rule.kind in ("in_order", "no_overlap"):
                    first, second = rule.fields
                    self.ranks[second] = max(self.ranks[second], self.ranks[first] + 1)

    def type_good(self, number: int) -> dict[str, str]:
        """What a form takes, without references. Every number gives other values."""
        return {field.name: self._type_value(field, number) for field in self.entity.fields if not field.target}

    def _type_value(self, field: Field, number: int) -> str:
        rank, step = self.ranks[field.name], len(self.entity.fields) + 1
        at = DAY + dt.timedelta(days=number * step + rank)
        match field.type:
            case "integer" | "decimal":
                least = field.minimum if field.minimum is not None else min(1, field.maximum or 1)
                most = field.maximum if field.maximum is not None else least + 1000
                value = min(least + number * step + rank, most)
                return str(int(value)) if field.type == "integer" else f"{value:.2f}"
            case "yes_no":
                return "yes" if number % 2 else ""
            case "choice":
                return field.options[number % len(field.options)]
            case "date":
                return at.date().isoformat()
            case "date_time":
                return at.isoformat(timespec="minutes")
            case "time":
                return f"{number * 4 % 20 + rank // 60:02}:{rank % 60:02}"
            case "email":
                return f"{field.name}{number}@example.org"
            case "link":
                return f"https://example.org/{field.name}/{number}"
            case _:
                return f"{field.name.replace('_', ' ')} {number}"

    def type_wrong(self) -> list[tuple[str, str]]:
        """Fields with something each cannot take."""
        wrong = []
        for field in self.entity.fields:
            match field.type:
                case "integer":
                    values = ["many", "1.5", "9" * 40]
                case "decimal":
                    values = ["much", "nan", "1e400"]
                case "yes_no":
                    values = ["perhaps"]
                case "date":
                    values = ["2090-02-31", "tomorrow"]
                case "date_time":
                    values = ["2090-01-01T25:00", "2090-01-01"]
                case "time":
                    values = ["25:00"]
                case "email":
                    values = ["nobody", "a@b"]
                case "link":
                    values = ["javascript:alert(1)", "example.org"]
                case "choice":
                    values = ["no such option"]
                case "reference":
                    values = ["987654321", "first"]
                case _:
                    values = ["a\0b", "x" * (10_001 if field.type == "long_text" else 201)]
            if field.minimum is not None:
                values.append(str(int(field.minimum) - 1))
            if field.maximum is not None:
                values.append(str(int(field.maximum) + 1))
            wrong += [(field.name, value) for value in values]
        return wrong

    def list_required(self) -> list[str]:
        """Fields that must not be left out."""
        return [field.name for field in self.entity.fields if field.required and field.type != "yes_no"]

    def find_text(self) -> str:
        """A field that takes any words; empty where there is none."""
        return next((field.name for field in self.entity.fields if field.type in ("text", "long_text")), "")
