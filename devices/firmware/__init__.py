"""Firmware for a Raspberry Pi Pico in MicroPython: dice, buttons and lights over USB serial.

`wire`, `box` and `debounce` also run under CPython: the driver speaks with the same code that the firmware does.
"""
