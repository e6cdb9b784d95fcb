"""Graphs in DOT as pictures: laid out, drawn as SVG, written as Mermaid."""
