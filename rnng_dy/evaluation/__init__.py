"""Scores of trees and of probabilities, and tests of the difference between two systems."""
