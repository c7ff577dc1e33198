"""What every framework's file of peers has in common."""


class Missing(Exception):
    """The framework, or a workload of it, is not here."""


class Sizes:
    """The sides of everything, shrunk as Workloads() shrinks them."""

    def __init__(self, shrink):
        self.k4 = self.shrunk(4096, shrink)
        self.k8, self.k16 = 2 * self.k4, 4 * self.k4
        self.turns = self.shrunk(1000, shrink)
        # So that products of the weights stay about as large as their input.
        self.small, self.tiny = self.k4 ** -0.5, self.k16 ** -0.5

    @staticmethod
    def shrunk(size, shrink):
        return max(size // shrink, 8)
