"""What an array costs: its drives and the controller, relative to its capacity."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from drivelab.errors import OptionError, ref

_PRICE = re.compile(r"(?P<amount>[+-]?\d+(?:\.\d+)?) ?(?P<currency>[A-Z]{3})")
GB, GIB = 10**9, 2**30


@dataclass(frozen=True)
class Price:
    """An amount of a currency."""

    amount: float
    currency: str

    @classmethod
    def parse(cls, text: str, option: str) -> Price:
        """A price as typed: 140USD. Raises InputError."""
        match = _PRICE.fullmatch(text.strip())
        if match is None:
            what = "a price is a number and a currency of three capital letters, 140USD"
            raise OptionError(option, text, what)
        if float(match["amount"]) < 0:
            raise OptionError(option, text, "a price is not below zero", "140USD, or 0USD for what is there")
        return cls(float(match["amount"]), match["currency"])


@dataclass(frozen=True)
class Prices:
    """The price of a drive, and of the controller that all share; one on the mainboard costs nothing extra."""

    drive: Price
    controller: float = 0.0

    @classmethod
    def parse(cls, drive: str | None, controller: str | None) -> Prices | None:
        """Prices from two options; None without the drive's. Raises InputError."""
        if drive is None:
            if controller is not None:
                what = f"{ref('controller_price')} changes nothing without {ref('drive_price')}"
                raise OptionError("controller_price", None, what, is_named=False)
            return None
        one = Price.parse(drive, "drive_price")
        if controller is None:
            return cls(one)
        other = Price.parse(controller, "controller_price")
        if other.currency != one.currency:
            what = f"the drive's price is in {one.currency}; give both in one currency"
            raise OptionError("controller_price", controller, what)
        return cls(one, other.amount)

    def system(self, drives: int) -> float:
        """The price of the controller and this many drives."""
        return self.controller + drives * self.drive.amount

    def per_byte(self, drives: int, usable_bytes: float) -> float:
        """The system's price over its usable capacity."""
        return self.system(drives) / usable_bytes

    def to_dict(self, drives: int, usable_bytes: int) -> dict[str, Any]:
        """The cost as JSON has it."""
        per_byte = self.per_byte(drives, usable_bytes)
        return {
            "currency": self.drive.currency,
            "system": self.system(drives),
            "per_usable_gb": per_byte * GB,
            "per_usable_gib": per_byte * GIB,
        }
