"""Scores of trees and of probabilities, and what sets two systems apart."""
